import { Gauge, type Registry } from 'prom-client'
import type { Leases } from './leases.ts'
import type { Membership } from './membership.ts'

export interface ClusterMetricsOptions {
  membership: Membership
  leases: Leases
}

export function clusterMetrics(registry: Registry, { membership, leases }: ClusterMetricsOptions): void {
  const registers = [registry]
  new Gauge({
    name: 'tagwarden_nodes',
    help: 'Running nodes on the database; 0 when it cannot be reached',
    registers,
    async collect() {
      const living = await membership.liveNodeIds().catch(() => [])
      this.set(living.length)
    },
  })
  new Gauge({
    name: 'tagwarden_leases',
    help: 'Whether this node does the work that only one node does at a time',
    labelNames: ['name'],
    registers,
    collect() {
      for (const [name, isHeld] of leases.holdings) this.labels({ name }).set(isHeld ? 1 : 0)
    },
  })
}
