/** Control and position of a thread; what a thread begins with where it has no checkpoint yet. */
import type { ThreadImage } from '../codec/thread-image.ts';
import type { Control, Position } from '../model/checkpoint.ts';
import { emptyControl, emptyPosition } from '../model/empty-control.ts';

export function controlOf(image: ThreadImage, maxSteps: number): Control {
  return image.state?.checkpoint.control ?? emptyControl(image.row, image.control.ledgerDigest, maxSteps);
}

/** Whether steps run again behind a repair that fell back to before a person went back or edited: what came of that is not known. */
export function isTravelLost({ control, state }: ThreadImage): boolean {
  return control.travel?.isLost === true && state !== null && state.checkpoint.control.ledger.replay !== null;
}

export function positionOf(image: ThreadImage): Position {
  return image.state?.checkpoint.position ?? emptyPosition;
}
