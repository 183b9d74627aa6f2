/**
 * Makes a state of the version before into one of this version. Gets the fields as they were stored, frozen: values, and logs as
 * `Log`. Returns all fields of the new version: a log as it was given, or the list of its new items. What it leaves out is
 * removed; a field that is not declared is refused, and a declared one that is missing has its default. Pure: it may run again, and on old checkpoints that are only read.
 */
export type Migration = (
  state: Readonly<Record<string, unknown>>,
) => Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>;

/** By the version that they lead to. A state may be as old as they reach back without a gap. */
export type Migrations = Readonly<Record<number, Migration>>;
