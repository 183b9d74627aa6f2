/**
 * What a view that arrives in the middle of a step needs beside what is stored: the text and the custom events of the steps that
 * run now, in their order (B13). Held in memory only, and only while the step runs (PROTOCOL 8).
 */
import type { Frame } from '../model/frame.ts';
import type { StepId } from '../model/ids.ts';

type Live = Extract<Frame, { type: 'running' | 'token' | 'restart' | 'custom' }>;
type Token = Extract<Frame, { type: 'token' }>;

export class RunningSteps {
  readonly #steps = new Map<StepId, Live[]>();

  /** Keeps what a late view must get, and forgets what is stored by now. */
  keep(frame: Frame): void {
    if (frame.type === 'running') this.#steps.set(frame.step, [frame]);
    else if (isLive(frame)) add(this.#steps.get(frame.step) ?? [], frame);
    else if (frame.type === 'step' && frame.left !== undefined) this.#steps.delete(frame.left);
    // A run that waits may still have other calls and lines under way.
    else if (frame.type === 'status' && frame.status !== 'running' && frame.status !== 'waiting') this.clear();
  }

  /** Nothing is under way any more. */
  clear(): void {
    this.#steps.clear();
  }

  /** All that a view has missed, each piece once. */
  missed(): readonly Frame[] {
    return [...this.#steps.values()].flat();
  }
}

/** Frames that are held in memory only. */
export function isLive(frame: { readonly type: string }): frame is Live {
  return frame.type === 'running' || frame.type === 'token' || frame.type === 'restart' || frame.type === 'custom';
}

/** Pieces of one answer become one piece; those of an attempt that was given up go. */
function add(frames: Live[], frame: Exclude<Live, { type: 'running' }>): void {
  if (frame.type === 'custom') {
    frames.push(frame);
    return;
  }
  const at = frames.findIndex((one) => one.type === 'token' && one.key === frame.key);
  const known = frames[at] as Token | undefined;
  if (frame.type === 'restart') {
    if (known !== undefined) frames.splice(at, 1);
    return;
  }
  if (known === undefined) frames.push(frame);
  else if (known.attempt === frame.attempt) frames[at] = { ...known, text: known.text + frame.text };
  else frames.splice(at, 1, frame);
}
