/** Calls back once after `durationMs`, unless the function it returns was called before. */
export type StartTimer = (callBack: () => void, durationMs: number) => () => void;

export const platformTimer: StartTimer = (callBack, durationMs) => {
  const id = setTimeout(callBack, durationMs);
  return () => clearTimeout(id);
};
