import { effectScenarios } from './effects.ts';
import { flowScenarios } from './flow.ts';
import type { Scenario } from './scenario.ts';
import { troubledScenarios } from './troubled.ts';

export const scenarios: readonly Scenario[] = [...effectScenarios, ...flowScenarios, ...troubledScenarios];
