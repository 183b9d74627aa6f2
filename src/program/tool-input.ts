import { validate } from '../model/schema.ts';
import { programErrors } from './errors.ts';
import type { AnyTool } from './tool.ts';

/** The input as the tool's schema makes it. @throws `tool_input_invalid` */
export function checkedInput(tool: AnyTool, input: unknown): unknown {
  const result = validate(tool.input, input);
  if ('issues' in result) throw programErrors.make('tool_input_invalid', { tool: tool.name, problem: result.issues });
  return result.value;
}
