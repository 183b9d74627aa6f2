import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium } from 'playwright';
import { findChromium } from './find-browser.ts';
import { runChild } from './run-child.ts';

/** The Chromium that the tests will take, or `undefined` if there is none. */
function present(): string | undefined {
  const path = findChromium();
  if (path !== undefined) return path;
  const playwrights = chromium.executablePath();
  return existsSync(playwrights) ? playwrights : undefined;
}

/**
 * Answers with the path of Chromium, which is installed first if it is missing: as a Debian package where this user may
 * do that, else as Playwright's download.
 *
 * @throws if neither worked.
 */
export async function ensureChromium(): Promise<string> {
  const before = present();
  if (before !== undefined) return before;
  if (process.getuid?.() === 0 && isOnPath('apt-get')) {
    console.log('No Chromium here: installing the Debian package.');
    await runChild('apt-get', ['update']);
    await runChild('apt-get', ['install', '-y', '--no-install-recommends', 'chromium']);
  }
  if (present() === undefined) {
    console.log("No Chromium here: downloading Playwright's.");
    await runChild('playwright', ['install', 'chromium']);
  }
  const after = present();
  if (after !== undefined) return after;
  throw new Error('Chromium could not be installed. Install it by hand, and set CHROMIUM_PATH to the program.');
}

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}
