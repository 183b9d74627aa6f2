export const firstQuestion = '/ask.1';

/** Where the waits of a node stand, behind the place of the call that asks. */
export const waitPlaces: readonly string[] = [firstQuestion, '/event', '/timer', '/child'];
