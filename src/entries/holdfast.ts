/** `holdfast`: what authors define agents with, and what pages connect with. */
export { HoldfastError } from '../base/errors.ts';
export { isChoiceNeeded } from '../client/choice-needed.ts';
export { type AgentClient, connect, type ThreadClient } from '../client/connect.ts';
export type { ConnectOptions, WorkerSource } from '../client/connection.ts';
export type { AgentType, FileInfo, LogTail, PageInput, PageState, PageWait, QuestionWait } from '../client/types.ts';
export type { CheckpointInfo, Control, Position } from '../model/checkpoint.ts';
export type { ChoiceNeeded, CrossedEffect, EffectToChoose } from '../model/choice-needed.ts';
export type { EffectClass, EffectInfo, EffectStatus } from '../model/effect.ts';
export {
  type Field,
  type Fields,
  type Log,
  type LogField,
  log,
  type SecretField,
  type StateOf,
  secret,
  type UpdateOf,
  type ValueField,
  type ValuesOf,
  value,
} from '../model/fields.ts';
export { FileRef } from '../model/file-ref.ts';
export type { Frame, StepSummary } from '../model/frame.ts';
export type { CheckpointId, ThreadId } from '../model/ids.ts';
export type { Extension, InboxPolicy } from '../model/inbox.ts';
export type { LineFailure } from '../model/lines.ts';
export type { ThreadStatus } from '../model/records.ts';
export type { QuarantinedRecord, RepairInfo } from '../model/repair.ts';
export type { Schema } from '../model/schema.ts';
export type { Wait, WaitAnswer } from '../model/wait.ts';
export {
  type Agent,
  type AgentDefinition,
  defineAgent,
  type NodeDefinition,
  type RunLimits,
  type Subgraph,
} from '../program/agent.ts';
export {
  type Identified,
  messageWindow,
  noSummary,
  type Summary,
  summarized,
  unseen,
  type WindowLimits,
} from '../program/conversation.ts';
export type { FailureClass } from '../program/failure-class.ts';
export type { Migration, Migrations } from '../program/migration.ts';
export type {
  LanguageModel,
  ModelAnswer,
  ModelContext,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelToolCall,
  ModelUsage,
} from '../program/model.ts';
export type { AskOptions, CallScope, ChildEnd, NodeContext } from '../program/node-context.ts';
export type { Branch, ForkOptions, NodeResult } from '../program/node-result.ts';
export { defaultPolicy, type PolicyRule, type PolicyTable } from '../program/policy.ts';
export {
  done,
  notDone,
  Refusal,
  type Tool,
  type ToolCall,
  type ToolDefinition,
  tool,
  unknown,
  type Verdict,
} from '../program/tool.ts';
export type { GoBack, Inspected, StreamMessage, ThreadSummary, ThreadView } from '../protocol/host-api.ts';
