/** What Vitest's JSON reporter writes, as far as it is read here. */
export interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Each failed test by file and name. A file that could not be loaded counts as one. */
  readonly failures: readonly string[];
}

export function countTests(report: VitestReport): TestCounts {
  const failures = report.testResults.flatMap((file) => {
    const failed = file.assertionResults.filter((result) => result.status === 'failed');
    if (failed.length > 0) return failed.map((result) => `${file.name}: ${result.fullName}`);
    return file.status === 'failed' ? [`${file.name}: could not be loaded`] : [];
  });
  return {
    passed: report.numPassedTests,
    failed: failures.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
  };
}
