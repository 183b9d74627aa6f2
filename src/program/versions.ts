/** New code on open threads (B15): names that have changed, and older versions that threads are pinned to. */
/** New names by old ones. A thread in flight goes on under the new name. */
export interface Aliases {
  /** Nodes, `graph/node` inside of a graph. */
  readonly nodes?: Readonly<Record<string, string>>;
  readonly tools?: Readonly<Record<string, string>>;
}

export interface Versioned {
  readonly name: string;
  readonly version: number;
  readonly aliases?: Aliases;
  readonly earlier?: readonly Versioned[];
}

/** The name by which this version knows a tool, or the resolution of one (`name (verify)`). */
export function toolNow({ aliases }: Pick<Versioned, 'aliases'>, name: string): string {
  const [own = name, ...rest] = name.split(' ');
  const now = aliases?.tools !== undefined && Object.hasOwn(aliases.tools, own) ? aliases.tools[own] : undefined;
  return now === undefined ? name : [now, ...rest].join(' ');
}

/** The name by which this version knows a node. */
export function nodeNow({ aliases }: Pick<Versioned, 'aliases'>, name: string): string {
  return aliases?.nodes !== undefined && Object.hasOwn(aliases.nodes, name) ? (aliases.nodes[name] ?? name) : name;
}

/** What is wrong with the aliases and the earlier versions of an agent; `undefined` if nothing is. */
export function versionProblem(
  agent: Versioned,
  { nodes, tools }: { readonly nodes: readonly string[]; readonly tools: readonly string[] },
): string | undefined {
  for (const [what, aliases, known] of [
    ['node', agent.aliases?.nodes, nodes],
    ['tool', agent.aliases?.tools, tools],
  ] as const) {
    for (const [from, to] of Object.entries(aliases ?? {})) {
      if (!known.includes(to)) return `the alias of ${what} "${from}" is "${to}"; there are ${known.join(', ')}`;
      if (known.includes(from)) return `${what} "${from}" has an alias and is there, too`;
    }
  }
  for (const other of agent.earlier ?? []) {
    if (typeof other !== 'object' || other === null)
      return `${String(other)} is among its earlier versions, and is no agent`;
    if (other.name !== agent.name) return `"${other.name}" is among its earlier versions, and has another name`;
    if (other.version >= agent.version) return `version ${other.version} is among the earlier ones of ${agent.version}`;
  }
  return undefined;
}
