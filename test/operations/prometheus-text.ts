import assert from 'node:assert/strict'

export interface Sample {
  name: string
  labels: Record<string, string>
  value: number
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = '([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\\\\n]|\\\\[\\\\"n])*)"'
const HELP = new RegExp(`^# HELP (${NAME}) \\S.*$`)
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge|histogram|summary|untyped)$`)
// Go's ParseFloat reads the value: it takes `Nan` too, as prom-client writes it.
const SAMPLE = new RegExp(
  `^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*,?)\\})? (-?[0-9.]+(?:e[+-]?[0-9]+)?|[Nn]a[Nn]|[+-]?Inf)$`,
)

/**
 * The samples in Prometheus' text format
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format). Fails on a text that is not valid.
 */
export function samplesOf(text: string): Sample[] {
  assert.ok(text.endsWith('\n'))
  const types = new Map<string, string>()
  const seen = new Set<string>()
  const samples: Sample[] = []
  for (const line of text.split('\n')) {
    if (line === '' || HELP.test(line)) continue
    const [, typed, type] = TYPE.exec(line) ?? []
    if (typed !== undefined && type !== undefined) {
      assert.ok(!types.has(typed), `two types: ${line}`)
      types.set(typed, type)
      continue
    }
    const sample = sampleOf(line)
    assert.ok(types.has(familyOf(sample.name, types)), `no type before: ${line}`)
    const identity = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
    assert.ok(!seen.has(identity), `twice: ${line}`)
    seen.add(identity)
    samples.push(sample)
  }
  return samples
}

function sampleOf(line: string): Sample {
  const match = SAMPLE.exec(line)
  assert.ok(match !== null, `not a sample: ${line}`)
  const labels = [...(match[2] ?? '').matchAll(new RegExp(LABEL, 'g'))].map(([, name, value]) => [
    name,
    plain(value ?? ''),
  ])
  return {
    name: match[1] ?? '',
    labels: Object.fromEntries(labels),
    value: Number(match.at(-1)?.replace('Inf', 'Infinity')),
  }
}

const plain = (escaped: string): string =>
  escaped.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character))

/** A histogram's or summary's samples have a suffix behind its name. */
function familyOf(name: string, types: ReadonlyMap<string, string>): string {
  const base = name.replace(/_(bucket|sum|count)$/, '')
  return ['histogram', 'summary'].includes(types.get(base) ?? '') ? base : name
}
