/** What a person can say where a policy asks about a step that failed. */
export const policyReplies: readonly string[] = ['retry', 'skip', 'stop'];
