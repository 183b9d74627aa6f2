import ts from 'typescript';

/** One test, as its source text names it. */
export interface TestTitle {
  readonly file: string;
  /** The titles of its groups and its own, without the numbers in brackets. */
  readonly title: string;
  /** What stands in brackets, in its own title and in those of its groups: `A3c` of `[A3c]`. */
  readonly ids: readonly string[];
}

interface Group {
  readonly titles: readonly string[];
  readonly ids: readonly string[];
}

const groupNames = new Set(['describe', 'suite']);
const testNames = new Set(['test', 'it']);
/** A test that does not run, or that has to fail, proves nothing. */
const idle = new Set(['skip', 'todo', 'fails']);

/**
 * The tests in a source text: calls of `test` and `it`, and of any function that takes a title with a number in brackets
 * and a function, so that helpers with a name of their own count too. Of a template literal, the fixed text counts.
 */
export function readTitles(file: string, text: string): TestTitle[] {
  const found: TestTitle[] = [];
  const visit = (node: ts.Node, group: Group): void => {
    const call = ts.isCallExpression(node) ? readCall(node) : undefined;
    if (call === undefined) {
      ts.forEachChild(node, (child) => visit(child, group));
      return;
    }
    if (call.idle) return;
    const inner = {
      titles: [...group.titles, withoutNumbers(call.title)],
      ids: [...new Set([...group.ids, ...numbersIn(call.title)])],
    };
    if (!call.isGroup) found.push({ file, title: inner.titles.join(' > '), ids: inner.ids });
    ts.forEachChild(node, (child) => visit(child, call.isGroup ? inner : group));
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true), { titles: [], ids: [] });
  return found;
}

/** The words in brackets that look like numbers of requirements: a capital letter and a digit, then anything. */
function numbersIn(title: string): string[] {
  return [...title.matchAll(/\[([^\]]*)\]/g)].flatMap(([, inside = '']) => {
    const words = inside.split(/[\s,]+/).filter((word) => word !== '');
    return words.some((word) => /^[A-Z]\d/.test(word)) ? words : [];
  });
}

function withoutNumbers(title: string): string {
  return title
    .replace(/\[([^\]]*)\]/g, (bracket) => (numbersIn(bracket).length > 0 ? '' : bracket))
    .replace(/\s+/g, ' ')
    .trim();
}

function readCall(call: ts.CallExpression): { title: string; isGroup: boolean; idle: boolean } | undefined {
  const names = namesOf(call.expression);
  const root = names[0] ?? '';
  const texts = call.arguments.map(textOf);
  const isGroup = groupNames.has(root);
  const known = isGroup || testNames.has(root) ? texts[0] : undefined;
  const numbered = texts.find((text) => text !== undefined && numbersIn(text).length > 0);
  const takesFunction = call.arguments.some((argument) => ts.isFunctionLike(argument));
  const title = known ?? (takesFunction ? numbered : undefined);
  return title === undefined ? undefined : { title, isGroup, idle: names.some((name) => idle.has(name)) };
}

/** `['test', 'skip', 'each']` of `test.skip.each(cases)`. */
function namesOf(expression: ts.Expression): string[] {
  if (ts.isIdentifier(expression)) return [expression.text];
  if (ts.isPropertyAccessExpression(expression)) return [...namesOf(expression.expression), expression.name.text];
  if (ts.isCallExpression(expression)) return namesOf(expression.expression);
  if (ts.isTaggedTemplateExpression(expression)) return namesOf(expression.tag);
  return [];
}

function textOf(node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isTemplateExpression(node)) {
    return node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join('');
  }
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
    const sides = [textOf(node.left), textOf(node.right)];
    return sides.every((side) => side === undefined) ? undefined : sides.map((side) => side ?? '…').join('');
  }
  return undefined;
}
