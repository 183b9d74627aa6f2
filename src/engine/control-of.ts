/** Control and position of a thread; what a thread begins with where it has no checkpoint yet. */
import type { ThreadImage } from '../codec/thread-image.ts';
import type { Control, Position } from '../model/checkpoint.ts';
import { emptyControl, emptyPosition } from '../model/empty-control.ts';

export function controlOf(image: ThreadImage, maxSteps: number): Control {
  return image.state?.checkpoint.control ?? emptyControl(image.row, image.control.ledgerDigest, maxSteps);
}

export function positionOf(image: ThreadImage): Position {
  return image.state?.checkpoint.position ?? emptyPosition;
}
