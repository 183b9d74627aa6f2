import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ambientUses } from './ambient-names.ts';
import { isLayer, layerOf, packageTable, portOnlyLayers, ruleOf } from './layer-table.ts';
import type { Edge, Modules } from './see-modules.ts';

/** What breaks the table of layers below `top`, one sentence for each offence. */
export function offencesOf(top: string, modules: Modules): string[] {
  return [
    ...modules.files.flatMap(homeless),
    ...modules.edges.flatMap(edgeOffence),
    ...modules.circles.map((circle) => `${[circle.at(-1), ...circle].join(' imports ')}: a circle.`),
    ...modules.files.flatMap((path) => ambientOffences(top, path)),
  ];
}

function homeless(path: string): string[] {
  const layer = layerOf(path);
  if (layer !== undefined && ruleOf(layer) !== undefined) return [];
  return [`${path} is in no layer: move it to a folder of the table in layer-table.ts.`];
}

function edgeOffence(edge: Edge): string[] {
  const layer = layerOf(edge.from);
  const rule = layer === undefined ? undefined : ruleOf(layer);
  if (layer === undefined || rule === undefined) return [];
  const reason = reasonAgainst(edge, layer, rule.imports, rule.asUser === true);
  return reason === undefined ? [] : [`${edge.from} imports ${edge.specifier}: ${reason}.`];
}

function reasonAgainst(edge: Edge, layer: string, imports: readonly string[], asUser: boolean): string | undefined {
  switch (edge.kind) {
    case 'missing':
      return `there is no ${edge.to}`;
    case 'own':
      return asUser ? undefined : 'inside the library, import the file and not the package';
    case 'package': {
      const homes = packageTable[edge.to] ?? [];
      if (homes.includes(layer)) return undefined;
      return homes.length === 0
        ? `no layer may import ${edge.to}`
        : `only ${homes.join(', ')} may import ${edge.to === 'node' ? "Node's own modules" : edge.to}`;
    }
    case 'file':
      return reasonAgainstFile(edge.to, layer, imports, asUser);
  }
}

function reasonAgainstFile(
  path: string,
  layer: string,
  imports: readonly string[],
  asUser: boolean,
): string | undefined {
  const target = layerOf(path);
  if (target === layer) return undefined;
  if (target === undefined) return `${path} is in no layer`;
  if (asUser && target === 'entries') return 'it must name the entry point by its public name, as a user does';
  if (imports.some((pattern) => isLayer(pattern, target))) return undefined;
  const others = imports.length === 0 ? 'nothing outside itself' : `only ${imports.join(', ')}`;
  return `${layer} may import ${others}, and this is ${target}`;
}

function ambientOffences(top: string, path: string): string[] {
  const layer = layerOf(path);
  if (layer === undefined || !portOnlyLayers.includes(layer)) return [];
  const allowed = layer === 'codec' && posix.basename(path).startsWith('webcrypto-') ? ['crypto'] : [];
  return ambientUses(path, readFileSync(join(top, path), 'utf8'), allowed).map(
    ({ name, line }) => `${path}:${line} uses ${name}: ${layer} takes time, ids, randomness and network as ports.`,
  );
}
