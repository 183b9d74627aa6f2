import { serve } from 'holdfast/worker';
import { screeningModel } from '../../src/demo/screening-model.ts';
import { countedScreening } from './counted-screening.ts';

serve(countedScreening(self.name), { model: screeningModel({ latencyMs: 40 }) });
