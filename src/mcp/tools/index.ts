import type { Tool } from '../tool.ts'
import { acknowledge, explainIncident, listAlerts, listIncidents, silence } from './incidents.ts'
import { listProbes, probeResults } from './probes.ts'
import { compareWindows, listClients, listSites, siteHealth, tagReport } from './sites.ts'

/** In the order in which assistants see them. */
export const TOOLS: readonly Tool[] = [
  listClients,
  listSites,
  siteHealth,
  listIncidents,
  explainIncident,
  listAlerts,
  compareWindows,
  tagReport,
  listProbes,
  probeResults,
  acknowledge,
  silence,
]
