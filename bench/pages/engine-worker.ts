import { runSides, type SidesWork } from '../sides.ts';

self.onmessage = async ({ data }: MessageEvent<SidesWork>) => self.postMessage(await runSides(data));
