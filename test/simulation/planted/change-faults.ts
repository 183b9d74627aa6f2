/** Deliberate faults in migrations of the state, and in going back and editing. */
import { fault, type PlantedFault } from './fault.ts';

const migrates = 'newer code takes over, and migrates the state';
const withLines = 'newer code takes over while lines run, and older code after it for a while';
const again = 'a run is taken back, and then to where that led';
const triedAgain = 'a person says that a step which paid is to be tried again';
const edited = 'the state is edited while a person is asked, and again after the end';

export const changeFaults: readonly PlantedFault[] = [
  fault(
    'what a migration changed is not committed',
    migrates,
    'engine/migrate-state.ts',
    '    else set.set(name, value);',
    '',
  ),
  fault(
    'lines do not survive a migration',
    withLines,
    'engine/migrate-state.ts',
    '!Object.hasOwn(after, name) && !isHidden(name)',
    '!Object.hasOwn(after, name)',
  ),
  fault(
    'a state is migrated again by each process',
    migrates,
    'engine/plans.ts',
    '    stateVersion: agent.stateVersion,',
    '    stateVersion: 1,',
  ),
  fault(
    'older code goes on where newer code was',
    withLines,
    'engine/thread-runner.ts',
    '    if (version > agent.version) {',
    '    if (version > agent.version + 1) {',
  ),
  fault(
    'what going back leaves behind is not reused',
    edited,
    'engine/effect.ts',
    "if (!choices.some(({ choice }) => choice === 'reuse')) return false;",
    'if (choices.length >= 0) return false;',
  ),
  fault(
    'going back again does not ask about the results that were passed on',
    again,
    'engine/time-travel-crossed.ts',
    'isThere ? undefined : (own ?? open);',
    'isThere || calls.length > 1 ? undefined : (own ?? open);',
  ),
  fault(
    'a step that paid pays again where a person says that it is to be tried again',
    triedAgain,
    'engine/step-policy.ts',
    '{ given: known.map(({ intent }) => intent.number) }',
    '{ given: [] }',
  ),
  fault(
    'an edit is not in the state',
    edited,
    'engine/time-travel.ts',
    'change: { ...change, set: new Map([...change.set, ...lines]) },',
    'change: { ...change, set: new Map(lines) },',
  ),
];
