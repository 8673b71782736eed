import type { Tool } from '../tool.ts'
import { acknowledge, silence } from './handling.ts'
import { explainIncident, listAlerts, listIncidents } from './incidents.ts'
import { listProbes, probeResults } from './probes.ts'
import { compareWindows, siteHealth, tagReport } from './reports.ts'
import { listClients, listSites } from './sites.ts'

/** In the order in which assistants are shown them. */
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
