import { effectScenarios } from './effects.ts';
import { familyScenarios } from './family.ts';
import { flowScenarios } from './flow.ts';
import { forkScenarios } from './forks.ts';
import { keptScenarios } from './kept.ts';
import { limitScenarios } from './limits.ts';
import { lineScenarios } from './lines.ts';
import { policyScenarios } from './policies.ts';
import type { Scenario } from './scenario.ts';
import { travelScenarios } from './travel.ts';
import { troubledScenarios } from './troubled.ts';
import { waitScenarios } from './waits.ts';

export const scenarios: readonly Scenario[] = [
  ...effectScenarios,
  ...flowScenarios,
  ...troubledScenarios,
  ...lineScenarios,
  ...waitScenarios,
  ...limitScenarios,
  ...policyScenarios,
  ...travelScenarios,
  ...forkScenarios,
  ...keptScenarios,
  ...familyScenarios,
];
