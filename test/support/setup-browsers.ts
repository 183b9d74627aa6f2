import { readArguments } from './command.ts';
import { ensureChromium } from './ensure-chromium.ts';

const options = readArguments(
  `npm run setup:browsers [-- --json]

Finds Chromium by CHROMIUM_PATH, in its usual places or in Playwright's cache, and installs it if it is missing.
  --json  prints one JSON object as the last line`,
  { json: { type: 'boolean' } },
);

const path = await ensureChromium();
console.log(`Chromium: ${path}`);
if (options.json === true) console.log(JSON.stringify({ chromium: path }));
