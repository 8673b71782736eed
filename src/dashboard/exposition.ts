/** One gauge in Prometheus' text format, with its samples. */
export interface Family {
  name: string
  help: string
  samples: readonly Sample[]
}

export interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

/**
 * The lines of a gauge, with a line break at the end of each
 * (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format).
 */
export function expositionOf({ name, help, samples }: Family): string {
  const lines = samples.map(({ labels, value }) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
    return `${name}{${pairs.join()}} ${value}\n`
  })
  return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${lines.join('')}`
}

/** Names of sites and tags are whatever somebody chose. */
const escaped = (text: string): string =>
  text.toWellFormed().replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
