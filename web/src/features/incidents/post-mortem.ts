import type { IncidentDetail } from '../../api/incidents.ts'
import { isDetectedAtOnce } from '../../lib/onset.ts'
import { dateFormat, duration, personName } from '../../lib/words.ts'
import { type TimelineLine, timelineOf } from '../alerts/timeline.ts'
import { typeName } from '../alerts/type-names.ts'
import { sentence } from '../alerts/words.ts'
import { impactSentence } from './impact.ts'
import { impactLines } from './impact-lines.ts'
import { CAUSE_WORDS } from './words.ts'

/**
 * A draft of a post-mortem as Markdown: what is known about the incident, and empty sections for what only people know.
 *
 * @param zone IANA zone of all times
 * @param now epoch ms, for the duration of an unresolved incident
 */
export function postMortem(incident: IncidentDetail, zone: string, now: number): string {
  const at = (time: string) => timeIn(time, zone)
  const { started_at, opened_at, acknowledged_at, acknowledged_by, resolved_at, severity, cause } = incident
  const lasted = duration((resolved_at === null ? now : Date.parse(resolved_at)) - Date.parse(started_at))
  const acknowledged =
    acknowledged_at === null ? 'no' : `${at(acknowledged_at)}, by ${plain(personName(acknowledged_by ?? ''))}`
  return (
    [
      `# ${plain(sentence(incident.title))}`,
      list([
        `Began: ${at(started_at)}, detected ${duration(Date.parse(opened_at) - Date.parse(started_at))} later`,
        resolved_at === null
          ? `Resolved: not yet, open for ${lasted}`
          : `Resolved: ${at(resolved_at)}, after ${lasted}`,
        `Severity: ${severity}`,
        `Cause: ${CAUSE_WORDS[cause]}${incident.vendor === null ? '' : `, ${plain(incident.vendor)}`}`,
        `Acknowledged: ${acknowledged}`,
        `Times: ${zone}`,
      ]),
      '## What was affected',
      table(incident, at),
      ...section('## What it cost', cost(incident.impact)),
      ...section(
        '## Evidence',
        incident.evidence.map((why) => plain(sentence(why))),
      ),
      '## Timeline',
      list(
        incidentLines(incident).map(({ at: time, kind, actor, text }) => {
          const said = plain(sentence(text))
          const head = HEADS[kind] ?? said
          const who = actor === null ? '' : ` by ${plain(personName(actor))}`
          return `${at(time)} – ${head}${who}${said === head || said === '' ? '' : `: ${said}`}`
        }),
      ),
      ...section(
        '## Notes',
        incident.notes.map(({ at: time, by, text }) => `${at(time)}, ${plain(personName(by))}: ${plain(text)}`),
      ),
      '## What caused it',
      '_To be written._',
      '## What is done so that it does not happen again',
      '- [ ] _To be written._',
    ]
      .join('\n\n')
      .concat('\n')
      // Non-breaking spaces help on a page, but get in the way of searching and editing plain text.
      .replaceAll('\u00a0', ' ')
  )
}

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n')

function cost(impact: IncidentDetail['impact']): string[] {
  if (impact === null) return []
  const lines = impactLines(impact).map(
    ({ what, lost, range }) => `${plain(what)}: ${lost}${range === null ? '' : `, ${range}`}`,
  )
  return [plain(impactSentence(impact) ?? 'Nothing was lost for certain'), ...lines, plain(sentence(impact.estimate))]
}

/** A section with its heading; nothing without lines. */
const section = (heading: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [heading, list(lines)]

function table({ alerts, affected }: IncidentDetail, at: (time: string) => string): string {
  const names = new Map(affected.map(({ site_id, site_name }) => [site_id, site_name]))
  const rows = alerts
    .toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at))
    .map(({ site_id, subject_label, probe_type, title, started_at, resolved_at }) => [
      plain(names.get(site_id) ?? site_id),
      plain(subject_label ?? typeName(probe_type)),
      plain(sentence(title)),
      at(started_at),
      resolved_at === null ? 'not yet' : at(resolved_at),
    ])
  const head = ['Site', 'What', 'Found', 'Began', 'Ended']
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** "25 Nov 2026, 13:40" */
function timeIn(time: string, timeZone: string): string {
  return dateFormat(timeZone, { dateStyle: 'medium', timeStyle: 'short' }).format(Date.parse(time))
}

/** People's text as one line, escaped so that nothing in it is read as Markdown or HTML. */
const plain = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replaceAll(/[\\`*_{}[\]<>#|~]/g, '\\$&')

type Kind = IncidentDetail['timeline'][number]['kind'] | 'first_sign'
export type IncidentLine = TimelineLine<Kind>

type Story = Pick<IncidentDetail, 'started_at' | 'opened_at' | 'timeline' | 'deliveries' | 'alerts'>

/** The timeline of an incident, oldest first, with its first sign if it was detected later. */
export function incidentLines(incident: Story): IncidentLine[] {
  const lines = timelineOf<Kind>(incident)
  if (isDetectedAtOnce(incident)) return lines
  const { started_at, alerts } = incident
  const [first] = alerts.toSorted((a, b) => Date.parse(a.started_at) - Date.parse(b.started_at))
  const text = first?.title ?? ''
  return [{ key: 'first', kind: 'first_sign', at: started_at, actor: null, text, deliveries: [] }, ...lines]
}

/** What a line begins with, where its text does not say it already. */
export const HEADS: Readonly<Partial<Record<IncidentLine['kind'], string>>> = {
  first_sign: 'First sign',
  opened: 'Opened',
  joined: 'An alert joined',
  explained: 'Cause added',
  belongs: 'Part of a larger incident',
  escalated: 'Became critical',
  next_on_call: 'Next on call',
  notified: 'Notified',
  sent: 'Notified',
  suppressed: 'Not notified',
  critical_only: 'Not notified',
  acknowledged: 'Acknowledged',
  unacknowledged: 'No longer acknowledged',
  noted: 'Note',
  resolved: 'Resolved',
  reopened: 'Open again',
}
