/** One numbered item of the requirements. Where there are parts, only a test that names a part (`[A1a]`) proves anything. */
export interface RequirementItem {
  readonly id: string;
  readonly title: string;
  readonly parts?: Readonly<Record<string, string>>;
}
