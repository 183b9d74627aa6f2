/** `holdfast/models`: language models. */
export {
  type DeterministicModelOptions,
  deterministicModel,
  type ModelRule,
  type RuleAnswer,
} from '../models/deterministic.ts';
