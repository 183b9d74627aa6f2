/**
 * What the model is asked. A prompt is an instruction and named parts; each part says how many characters it has, so that
 * nothing that stands in an application can pass for another part.
 */
import type { ModelRequest } from 'holdfast';
import type { Ranking } from './screening-state.ts';
import type { Applicant, Job, SkillMatch } from './types.ts';

export function jobPrompt(text: string): string {
  return prompt('Say what this job description asks for. Answer as JSON.', { description: text });
}

export function extractPrompt(text: string): string {
  return prompt('Say what this application tells of its sender. Leave out what it does not say. Answer as JSON.', {
    application: text,
  });
}

export function matchPrompt(applicant: Applicant, job: Job): string {
  const parts = { applicant: json(applicant), job: json(job) };
  return prompt('Which of the skills that the job asks for does the applicant have? Answer as JSON.', parts);
}

export function assessPrompt(applicant: Applicant, job: Job, match: SkillMatch): string {
  const parts = { applicant: json(applicant), job: json(job), match: json(match) };
  return prompt('How well does the applicant fit? Give a score, reasons and concerns. Answer as JSON.', parts);
}

export function choosePrompt(job: Job, { candidates }: Ranking): string {
  const instruction = 'Whom should we meet? Call the tool invite once for each, with a letter.';
  return prompt(instruction, { job: json(job), candidates: json(candidates) });
}

export function reportPrompt(job: Job, ranking: Ranking): string {
  return prompt('Sum up this screening in three or four sentences.', { job: json(job), ranking: json(ranking) });
}

/** The named part of the first message. @throws if the prompt has no such part. */
export function partOf({ messages }: ModelRequest, name: string): string {
  const first = messages.find(({ role }) => role === 'user');
  const parts = first !== undefined && 'text' in first ? partsIn(first.text) : new Map<string, string>();
  const part = parts.get(name);
  if (part === undefined) throw new Error(`The prompt has no part "${name}".`);
  return part;
}

function prompt(instruction: string, parts: Readonly<Record<string, string>>): string {
  const written = Object.entries(parts).map(([name, text]) => `## ${name} (${text.length} characters)\n${text}\n`);
  return [instruction, ...written].join('\n');
}

function partsIn(text: string): ReadonlyMap<string, string> {
  const parts = new Map<string, string>();
  const heading = /^## ([a-z]+) \((\d+) characters\)\n/gm;
  for (let found = heading.exec(text); found !== null; found = heading.exec(text)) {
    const [, name = '', length = '0'] = found;
    const end = heading.lastIndex + Number(length);
    parts.set(name, text.slice(heading.lastIndex, end));
    heading.lastIndex = end;
  }
  return parts;
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
