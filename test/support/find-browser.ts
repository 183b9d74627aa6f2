import { existsSync } from 'node:fs';

/** Where Linux distributions put Chromium; the first is the program itself, the second often a script around it. */
const usualPlaces = ['/usr/lib/chromium/chromium', '/usr/bin/chromium'];

/**
 * Path of the Chromium that the tests drive: `CHROMIUM_PATH`, else the first usual place that exists. `undefined` leaves
 * the choice to Playwright, which takes the one of `npx playwright install chromium`.
 *
 * @throws if `CHROMIUM_PATH` is set and names no file: a silent other browser would make the results meaningless.
 */
export function findChromium(
  env: Readonly<Record<string, string | undefined>> = process.env,
  exists: (path: string) => boolean = existsSync,
): string | undefined {
  const asked = env.CHROMIUM_PATH;
  if (asked === undefined || asked === '') return usualPlaces.find((path) => exists(path));
  if (exists(asked)) return asked;
  throw new Error(
    `CHROMIUM_PATH is "${asked}", and there is no such file. Correct it, or unset it to use the first of ` +
      `${usualPlaces.join(', ')}, or the browser of \`npx playwright install chromium\`.`,
  );
}

/** A browser for tests needs no sandbox as root (it refuses to start with one), and no traffic of its own. */
export function chromiumArguments(isRoot: boolean = process.getuid?.() === 0): readonly string[] {
  return [
    ...(isRoot ? ['--no-sandbox'] : []),
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
  ];
}
