/** One run of a benchmark in bench/RESULTS.md. */
interface Run {
  /** `Ingest` */
  kind: string
  /** `2026-11-20 13:22 UTC` */
  at: string
  body: string
}

const HEAD = `# Benchmarks

<!-- Written by \`npm run docs\` from bench/RESULTS.md; the method stands in bench/README.md. -->

The newest run of each benchmark, as it was written, what was not reached included. [All runs](../bench/RESULTS.md) are kept, and
[the method](../bench/README.md) says how each is made and how to read it.

- **Ratios count, not requests per second.** A run measures Tagwarden and a bare server in turn on the same machine: a server that reads, parses and answers, and knows no keys, checks
  nothing and stores nothing. How fast either is depends on the machine; how they compare hardly does.
- **Detection is measured against faults that are known**: simulated sites with traffic that varies, and faults of which each is marked as one that a person could see or not. Seeds that were
  looked at while rules were made are not those of the figures.
- **Run them yourself**: \`npm run bench\` (ten minutes); the others are listed with the method.
`

/** The runs in the results, newest first as in the file. @throws Error for a heading without a time */
function runsOf(results: string): Run[] {
  const [, ...sections] = results.split(/^## /m)
  return sections.map((section) => {
    const [heading = '', ...lines] = section.split('\n')
    const [, kind, at] = /^(.+), (\d{4}-\d\d-\d\d \d\d:\d\d UTC)$/.exec(heading) ?? []
    if (kind === undefined || at === undefined)
      throw new Error(`bench/RESULTS.md: "${heading}" is not "kind, time UTC"`)
    return { kind, at, body: lines.join('\n').trim() }
  })
}

/** The docs page with the newest run of each kind of benchmark. */
export function benchmarksPage(results: string): string {
  const newest = new Map<string, Run>()
  for (const run of runsOf(results)) {
    const known = newest.get(run.kind)
    if (known === undefined || known.at < run.at) newest.set(run.kind, run)
  }
  const sections = [...newest.values()].map(({ kind, at, body }) => `## ${kind}\n\nMeasured ${at}.\n\n${body}\n`)
  return [HEAD, ...sections].join('\n')
}
