import { Counter, Gauge, type Registry } from 'prom-client'
import type { IngestEndpoint } from './endpoint.ts'

export function ingestMetrics(registry: Registry, endpoint: Pick<IngestEndpoint, 'answers' | 'bytesUnderWay'>): void {
  const registers = [registry]
  new Counter({
    name: 'tagwarden_ingest_requests_total',
    help: 'Ingest requests by their answer',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset()
      for (const [result, count] of Object.entries(endpoint.answers)) this.labels({ result }).inc(count)
    },
  })
  new Gauge({
    name: 'tagwarden_ingest_bytes',
    help: 'Bytes of ingest requests under way, from the first of a body to the answer',
    registers,
    collect() {
      this.set(endpoint.bytesUnderWay)
    },
  })
}
