import { type LogImage, type LogSpan, logLength } from './checkpoint-codec.ts';

/**
 * How many items two logs of one thread have in common from their beginning. Told from their spans alone: a span's items are
 * written once, so that nothing has to be read.
 */
export function commonLength(a: LogImage, b: LogImage): number {
  const [first, second] = [written(a), written(b)];
  let common = 0;
  for (const [index, span] of first.entries()) {
    const other = second[index];
    if (other === undefined || other.span !== span.span || other.from !== span.from) break;
    common = Math.min(span.to, other.to);
    if (span.to !== other.to) break;
  }
  return Math.min(common, logLength(a), logLength(b));
}

function written({ spans }: LogImage): readonly LogSpan[] {
  return spans.filter(({ from, to }) => from < to);
}
