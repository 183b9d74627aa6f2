import { effectScenarios } from './effects.ts';
import { flowScenarios } from './flow.ts';
import { lineScenarios } from './lines.ts';
import type { Scenario } from './scenario.ts';
import { troubledScenarios } from './troubled.ts';
import { waitScenarios } from './waits.ts';

export const scenarios: readonly Scenario[] = [
  ...effectScenarios,
  ...flowScenarios,
  ...troubledScenarios,
  ...lineScenarios,
  ...waitScenarios,
];
