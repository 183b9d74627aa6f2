import { agentItems } from './requirement-items/agents.ts';
import { browserItems } from './requirement-items/browser.ts';
import { checkpointItems } from './requirement-items/checkpoints.ts';
import { executionItems } from './requirement-items/execution.ts';
import type { RequirementItem } from './requirement-items/item.ts';
import { proofItems } from './requirement-items/proof.ts';

/** Every numbered item and its lettered parts. A test names what it proves in its title: `[A3c]`, or `[A3c, I4]`. */
export const requirementItems: readonly RequirementItem[] = [
  ...checkpointItems,
  ...executionItems,
  ...browserItems,
  ...agentItems,
  ...proofItems,
];
