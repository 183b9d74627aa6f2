import { parseArgs } from 'node:util';

type Options = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>;

/**
 * Reads the arguments of a command. `--help` prints `help` and ends with 0; what the command does not know is said, and
 * ends with 2.
 */
export function readArguments<const O extends Options>(help: string, options: O) {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    console.log(help);
    process.exit(0);
  }
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    process.exit(2);
  }
}
