/** Skills by the name the demo uses, with the other ways in which letters write them (in small letters). */
const SKILLS: Readonly<Record<string, readonly string[]>> = {
  Accessibility: ['accessibility', 'accessible', 'a11y', 'wcag', 'barrierefreiheit', 'barrierefrei', 'accessibilité'],
  Angular: ['angular', 'angularjs'],
  'Automated testing': [
    'automated testing',
    'automated tests',
    'automated test',
    'test automation',
    'automatisierte tests',
    'automatisierten tests',
    'tests automatisés',
    'unit tests',
    'end-to-end tests',
  ],
  'C++': ['c++'],
  CSS: ['css'],
  'Design systems': ['design systems', 'design system'],
  Docker: ['docker'],
  Git: ['git'],
  Go: ['golang'],
  GraphQL: ['graphql'],
  HTML: ['html'],
  IndexedDB: ['indexeddb', 'indexed db'],
  Java: ['java'],
  JavaScript: ['javascript', 'ecmascript'],
  jQuery: ['jquery'],
  Kafka: ['kafka'],
  Kotlin: ['kotlin'],
  Kubernetes: ['kubernetes', 'k8s'],
  'Node.js': ['node.js', 'nodejs'],
  Oracle: ['oracle'],
  PHP: ['php'],
  Playwright: ['playwright'],
  Python: ['python'],
  React: ['react', 'react.js', 'reactjs'],
  Ruby: ['ruby', 'ruby on rails'],
  Rust: ['rust'],
  RxJS: ['rxjs'],
  'Service workers': ['service workers', 'service worker', 'service-worker', 'service workern'],
  Spring: ['spring'],
  SQL: ['sql'],
  Svelte: ['svelte'],
  Swift: ['swift'],
  TypeScript: ['typescript'],
  Vue: ['vue', 'vue.js', 'vuejs'],
  WebAssembly: ['webassembly', 'wasm'],
  WebGL: ['webgl', 'webgl2'],
  WebGPU: ['webgpu'],
};

const BY_SPELLING: ReadonlyMap<string, string> = new Map(
  Object.entries(SKILLS).flatMap(([skill, spellings]) => spellings.map((spelling) => [spelling, skill])),
);

/** Words of everyday language too ("we react", "la vue"): in prose they are skills only with a capital. */
const NEEDS_CAPITAL: ReadonlySet<string> = new Set([
  'Angular',
  'Docker',
  'Go',
  'Kafka',
  'Oracle',
  'React',
  'Ruby',
  'Rust',
  'Spring',
  'Svelte',
  'Swift',
  'Vue',
]);

/** Longest first, so that "service worker" is not cut short; not inside a longer word. */
const MENTION = new RegExp(
  `(?<![\\p{L}\\d])(?:${[...BY_SPELLING.keys()]
    .sort((a, b) => b.length - a.length)
    .map((spelling) => spelling.replace(/[.+]/g, '\\$&'))
    .join('|')})(?![\\p{L}\\d+])`,
  'giu',
);

/** Words that say, in the clause of a skill, that it is not there (yet), or is somebody else's. */
const DENIAL = new RegExp(
  [
    /\b(?:no|not|never|nor|without|cannot|neither|hardly)\b|n['’]t\b/,
    /\b(?:would like to|want to|hope to|wish to|have to|plan to) (?:learn|use|try)\b/,
    /\b(?:read|know) (?:a good deal |a lot |something )?(?:about|from)\b|\breading about\b/,
    /\b(?:kein|keine|keinen|nicht|nie|noch nie|ohne|bislang nur|fehlt)\b/,
    /\bn['’](?:ai|a|avons)\b.*\b(?:pas|jamais)\b|\bsans\b/,
  ]
    .map((pattern) => pattern.source)
    .join('|'),
  'iu',
);

/** The name that the demo uses for a skill; one that it does not know comes back as written. */
function skillName(written: string): string {
  const trimmed = written.trim().replace(/\s*\(.*\)$/, '');
  return BY_SPELLING.get(trimmed.toLowerCase()) ?? trimmed;
}

/** A list as people write it ("TypeScript, React and CSS"), each once, in its order. */
export function skillsOfList(list: string): string[] {
  const parts = list.replace(/^none\b.*/i, '').split(/[,;|•]|\s(?:and|und|et)\s/);
  return [...new Set(parts.map((part) => skillName(part.replace(/[.\s]+$/, ''))).filter((name) => name !== ''))];
}

/** The known skills that prose claims; a mention in a clause that denies it ("never used WebGL") does not count. */
export function skillsOfProse(prose: string): string[] {
  const found = new Set<string>();
  for (const sentence of prose.split(/(?<=[.!?;:])\s+/)) {
    for (const clause of clausesOf(sentence)) {
      if (DENIAL.test(clause)) continue;
      for (const [spelling] of clause.matchAll(MENTION)) {
        const skill = skillName(spelling);
        if (!NEEDS_CAPITAL.has(skill) || /^\p{Lu}/u.test(spelling)) found.add(skill);
      }
    }
  }
  return [...found];
}

/** Whether the text begins with a known skill, a few words aside: then a number of years before it is for that skill. */
export function beginsWithSkill(text: string): boolean {
  return text.search(MENTION) >= 0 && text.search(MENTION) < 12;
}

/** A denial reaches to the next "but" or ", and", not over the whole sentence. */
function clausesOf(sentence: string): string[] {
  return sentence.split(
    /,?\s(?:but|though|aber|sondern|mais)\s|,\s(?:and|so|which|und|et)\s|,?\s(?:because|since|although|until|weil|obwohl)\s/i,
  );
}
