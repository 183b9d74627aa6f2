/** A deliberate fault: one that the simulator must find. */
export interface PlantedFault {
  readonly name: string;
  /** Under src/. */
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The scenario in which it is looked for first. */
  readonly begin: string;
}

export const fault = (name: string, begin: string, file: string, find: string, replace: string): PlantedFault => ({
  name,
  begin,
  file,
  find,
  replace,
});
