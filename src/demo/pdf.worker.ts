// The parser of pdfjs in a worker of its own. Imported into the agent's worker it would listen there on the port that
// belongs to the page, and a file that is slow to parse would hold up the agent.
import 'pdfjs-dist/legacy/build/pdf.worker.min.mjs';
