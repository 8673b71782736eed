import { BlockList } from 'node:net'
import type { Config } from '../../config.ts'
import type { DoctorFinding } from './doctor-finding.ts'

/** Where the machines of most clouds ask for their own credentials. */
const CLOUD_METADATA = '169.254.169.254'

/** Whether more may be reached than anyone intends. Null when nothing is allowed. */
export function outboundAllowFinding({ outboundAllow: { ranges, hosts } }: Config): DoctorFinding | null {
  const check = 'OUTBOUND_ALLOW'
  if (ranges.length + hosts.length === 0) return null
  const tooWide = ranges.find(([base, bits]) => {
    const list = new BlockList()
    list.addSubnet(base.toString(), bits, base.kind())
    return bits === 0 || list.check(CLOUD_METADATA)
  })
  if (tooWide === undefined) return { check, level: 'ok', text: 'no more than a few places' }
  const [base, bits] = tooWide
  const text = `${base.toString()}/${bits} lets anyone who creates probes reach ${CLOUD_METADATA}, where clouds hand out credentials: name the few addresses that are needed`
  return { check, level: 'warning', text }
}
