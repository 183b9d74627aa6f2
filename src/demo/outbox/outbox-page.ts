import { createHash } from 'node:crypto';

const STYLE = `
:root {
  color-scheme: light dark;
  --paper: light-dark(oklch(98.5% 0.004 200), oklch(19% 0.012 220));
  --raised: light-dark(oklch(100% 0 0), oklch(23% 0.014 220));
  --ink: light-dark(oklch(26% 0.02 220), oklch(93% 0.008 200));
  --quiet: light-dark(oklch(47% 0.02 220), oklch(72% 0.015 210));
  --line: light-dark(oklch(89% 0.008 210), oklch(34% 0.015 215));
  --durable: light-dark(oklch(45% 0.085 180), oklch(78% 0.1 178));
  --failed: light-dark(oklch(50% 0.18 27), oklch(75% 0.14 27));
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 720px; margin: 0 auto; padding: 32px 20px 64px; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 4px 16px; margin-bottom: 24px; }
h1 { font-size: 22px; font-weight: 600; line-height: 1.3; margin: 0; }
header p { margin: 0; color: var(--quiet); flex: 1 1 200px; }
button { font: inherit; color: inherit; background: var(--raised); border: 1px solid var(--line); border-radius: 6px;
  padding: 4px 12px; min-height: 36px; cursor: pointer; }
button:disabled { color: var(--quiet); cursor: default; }
:focus-visible { outline: 2px solid var(--durable); outline-offset: 2px; }
ol { list-style: none; margin: 0; padding: 0; border-left: 2px solid var(--durable); }
li { position: relative; margin: 0 0 16px; padding-left: 24px; }
li::before { content: ''; position: absolute; left: -7px; top: 20px; width: 12px; height: 12px; border-radius: 50%;
  background: var(--durable); border: 2px solid var(--paper); }
li.again::before { background: var(--failed); border-radius: 0; }
article { background: var(--raised); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; }
h2 { font-size: 15px; font-weight: 600; margin: 0; overflow-wrap: anywhere; }
.meta { display: flex; flex-wrap: wrap; gap: 0 16px; margin: 0; color: var(--quiet); font-size: 13px; }
.meta span, code { font-family: ui-monospace, monospace; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.warning { color: var(--failed); font-weight: 600; margin: 4px 0 0; }
summary { cursor: pointer; color: var(--quiet); padding: 4px 0; }
pre { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: 4px 0 0; }
.note { border: 1px dashed var(--line); border-radius: 8px; padding: 32px 20px; text-align: center; color: var(--quiet); }
.note strong { display: block; color: var(--ink); font-weight: 600; }
#trouble { color: var(--failed); font-weight: 600; }
[hidden] { display: none; }
`;

const SCRIPT = `
const POLL_MS = 1500;
const list = document.querySelector('ol');
const note = document.querySelector('#empty');
const loading = document.querySelector('#loading');
const trouble = document.querySelector('#trouble');
const summary = document.querySelector('#summary');
const button = document.querySelector('button');
let shown = '';

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function itemFor(message, earlierWithKey) {
  const item = element('li');
  item.dataset.id = message.id;
  const article = element('article');
  const meta = element('p', undefined, 'meta');
  const time = element('time', new Date(message.receivedAt).toLocaleString());
  time.dateTime = message.receivedAt;
  meta.append(element('span', 'to ' + message.to), time, element('span', 'attempt ' + message.attempt));
  article.append(element('h2', message.subject || '(no subject)'), meta);
  if (earlierWithKey > 0) {
    item.className = 'again';
    article.append(element('p', 'Sent again: delivery ' + (earlierWithKey + 1) + ' of the same effect.', 'warning'));
  }
  const details = element('details');
  const key = element('p', 'Effect key ', 'meta');
  key.append(element('code', message.key));
  details.append(element('summary', 'Read the letter'), element('pre', message.body), key);
  article.append(details);
  item.append(article);
  return item;
}

function show(messages) {
  const signature = messages.map((message) => message.id).join();
  if (signature === shown && loading.hidden) return;
  shown = signature;
  const known = new Map([...list.children].map((item) => [item.dataset.id, item]));
  const counts = new Map();
  const items = messages.map((message) => {
    const earlier = counts.get(message.key) ?? 0;
    counts.set(message.key, earlier + 1);
    return known.get(message.id) ?? itemFor(message, earlier);
  });
  for (const [id, item] of known) if (!items.includes(item)) item.remove();
  for (const item of items) if (!item.isConnected) list.prepend(item);
  const again = messages.length - counts.size;
  const count = messages.length === 1 ? '1 message sent' : messages.length + ' messages sent';
  summary.textContent = messages.length === 0 ? 'Nothing sent' : count + (again ? ', ' + again + ' of them again' : ', each once');
  loading.hidden = true;
  note.hidden = messages.length > 0;
  list.hidden = messages.length === 0;
  button.disabled = messages.length === 0;
}

async function refresh() {
  try {
    const response = await fetch('/outbox/messages');
    if (!response.ok) throw new Error(String(response.status));
    show(await response.json());
    trouble.hidden = true;
  } catch {
    trouble.hidden = false;
  }
}

async function poll() {
  if (!document.hidden) await refresh();
  setTimeout(poll, POLL_MS);
}

button.addEventListener('click', async () => {
  if (!confirm('Empty the list? What was sent stays sent.')) return;
  await fetch('/outbox/messages', { method: 'DELETE' }).catch(() => {}); // the list shows what is still there
  await refresh();
});
document.addEventListener('visibilitychange', () => { if (!document.hidden) refresh(); });
poll();
`;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64');

/** Nothing but the page's own style and script may run: letters come from people. */
export const OUTBOX_PAGE_POLICY =
  `default-src 'none'; style-src 'sha256-${sha256(STYLE)}'; script-src 'sha256-${sha256(SCRIPT)}'; ` +
  `connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'`;

/** What was sent, newest first; asks for news by itself. */
export const OUTBOX_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Outbox</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>Outbox</h1>
<p id="summary" role="status">Looking for messages</p>
<button type="button" disabled>Empty the list</button>
</header>
<p id="trouble" role="alert" hidden>The outbox does not answer. This page goes on trying; start it with npm start.</p>
<div id="loading" class="note">Looking for messages…</div>
<div id="empty" class="note" hidden><strong>Nothing was sent yet</strong>Invitations appear here when you allow them in the demo.</div>
<ol aria-label="Messages, newest first" hidden></ol>
</main>
<script type="module">${SCRIPT}</script>
</body>
</html>
`;
