/** Runs screenings. Its name is a query: `database`, `latencyMs` of the model, `outbox` (where invitations go). */
import { serve } from 'holdfast/worker';
import { screening } from '../src/demo/screening.ts';
import { screeningModel } from '../src/demo/screening-model.ts';
import { trustOwnScripts } from '../src/demo/trusted-types.ts';

trustOwnScripts(); // the PDF reader starts a worker of its own

const parameters = new URLSearchParams(self.name);
const latencyMs = Number(parameters.get('latencyMs') ?? 250);

serve(screening({ outboxUrl: parameters.get('outbox') ?? location.origin }), {
  database: parameters.get('database') ?? 'screening',
  model: screeningModel({ latencyMs: Number.isFinite(latencyMs) && latencyMs >= 0 ? latencyMs : 250 }),
});
