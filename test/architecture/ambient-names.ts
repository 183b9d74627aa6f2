import ts from 'typescript';

/** Globals that may not be used at all, since a port stands for each. */
const bannedGlobals = new Set(['setTimeout', 'setInterval', 'fetch', 'crypto', 'window', 'globalThis', 'performance']);
const bannedMembers = new Set(['Date.now', 'Math.random']);

export interface AmbientUse {
  readonly name: string;
  readonly line: number;
}

/** Where a source text takes time, randomness or network from its surroundings. Types do not count. */
export function ambientUses(path: string, text: string, allowed: readonly string[] = []): AmbientUse[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const uses: AmbientUse[] = [];
  const visit = (node: ts.Node): void => {
    const name = ambientName(node);
    if (name !== undefined && !allowed.includes(name)) {
      uses.push({ name, line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1 });
    }
    if (!ts.isTypeNode(node)) ts.forEachChild(node, visit);
  };
  visit(file);
  return uses;
}

function ambientName(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node)) {
    const name = `${node.expression.getText()}.${node.name.text}`;
    return bannedMembers.has(name) ? name : undefined;
  }
  if (ts.isNewExpression(node) && node.expression.getText() === 'Date') {
    return (node.arguments?.length ?? 0) === 0 ? 'new Date()' : undefined;
  }
  if (ts.isCallExpression(node) && node.expression.getText() === 'Date') return 'Date()';
  if (ts.isIdentifier(node) && bannedGlobals.has(node.text) && isValue(node)) return node.text;
  return undefined;
}

/** Whether a name stands for a value here: not the name of a member, nor of what is being declared. */
function isValue(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isVariableDeclaration(parent) || ts.isParameter(parent)) return parent.initializer === node;
  return !(ts.isClassElement(parent) || ts.isTypeElement(parent) || ts.isFunctionDeclaration(parent));
}
