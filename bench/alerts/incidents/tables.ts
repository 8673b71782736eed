import { type Check, check, markdownTable, outcomeText } from '../../lib/table.ts'
import { CAUSE_KINDS, type CauseKind } from './causes.ts'
import type { Figures, KindFigures } from './measure.ts'

/** What one seed came to. */
export interface SeedFigures {
  seed: number
  figures: Figures
}

const NAMES: Readonly<Record<CauseKind, string>> = {
  independent: 'one fault of a site',
  server: 'a server, with many symptoms',
  release: 'a version without some of the tags',
  vendor: 'a vendor, on many sites',
  connection: 'our own connection',
}

/** The outcome of all seeds as Markdown. */
export function tables(all: readonly SeedFigures[]): string {
  const figures = all.map((one) => one.figures)
  const overlapping = totalOf(figures, (one) => one.overlapping)
  const twins = totalOf(figures, (one) => one.twins)
  return [
    outcomeText({ measurements: [], checks: checksOf(figures) }),
    `${overlapping} faults began on a subject on which another was not over: the same alert shows both, and that they are in one incident, as in ${twins} here, is no wrong merge.`,
    kindTable(figures),
    seedTable(all),
  ].join('\n\n')
}

function checksOf(all: readonly Figures[]): Check[] {
  const { found, incidents, symptoms, right } = together(all.flatMap(({ byKind }) => [...byKind.values()]))
  const total = (of: (figures: Figures) => number) => totalOf(all, of)
  const months = total(({ siteMonths }) => siteMonths)
  const merges = total(({ wrongMerges }) => wrongMerges.length) / incidents
  const unfound = total((figures) => figures.unfound.length)
  const brief = total((figures) => figures.brief.length)
  const messages = total((figures) => figures.messages.operator) / months
  const share = right / symptoms
  const perFault = incidents / found
  const clients = total((figures) => figures.messages.clients) / months
  const eachAlert = total((figures) => figures.messages.eachAlert) / months
  return [
    check('incidents a fault that was found', perFault.toFixed(2), '≤ 1.15', perFault <= 1.15),
    check('symptoms in the incident of their fault', percent(share), '≥ 95 %', share >= 0.95),
    check('incidents with symptoms of two faults', percent(merges), '≤ 2 %', merges <= 0.02),
    check(
      'faults an alert showed and no message told of',
      `${unfound} (and ${brief} whose warnings were over within 30 minutes)`,
      '0',
      unfound === 0,
    ),
    check(
      'messages a site and month, to the operator',
      `${messages.toFixed(1)} (clients' own channels: ${clients.toFixed(1)}; were each alert notified: ${eachAlert.toFixed(1)})`,
      '≤ 12',
      messages <= 12,
    ),
  ]
}

function kindTable(all: readonly Figures[]): string {
  const rows = CAUSE_KINDS.map((kind) => {
    const figures = together(all.flatMap(({ byKind }) => byKind.get(kind) ?? []))
    const { causes, found, incidents, symptoms, right } = figures
    const counts = [causes, found, incidents, symptoms].map(String)
    return [NAMES[kind], ...counts, symptoms === 0 ? '–' : percent(right / symptoms)]
  })
  return markdownTable(['fault', 'faults', 'found', 'incidents', 'symptoms', 'in the right incident'], rows)
}

function seedTable(all: readonly SeedFigures[]): string {
  const rows = all.map(({ seed, figures }) => {
    const { siteMonths, faults, falseIncidents, wrongMerges, messages, kinds } = figures
    const aMonth = (count: number) => (count / siteMonths).toFixed(1)
    const { found, incidents, symptoms, right } = together([...figures.byKind.values()])
    const told = ['opened', 'escalated', 'resolved'].map((kind) => aMonth(kinds[kind] ?? 0))
    return [
      String(seed),
      aMonth(faults),
      (incidents / found).toFixed(2),
      percent(right / symptoms),
      String(wrongMerges.length),
      aMonth(falseIncidents),
      aMonth(messages.operator),
      ...told,
    ]
  })
  const head = ['seed', 'faults a site and month', 'incidents a fault', 'symptoms in the right one', 'wrong merges']
  return markdownTable([...head, 'false incidents', 'messages', 'opened', 'escalated', 'resolved'], rows)
}

function together(all: readonly KindFigures[]): KindFigures {
  const sum = (of: (figures: KindFigures) => number) => totalOf(all, of)
  return {
    causes: sum(({ causes }) => causes),
    found: sum(({ found }) => found),
    incidents: sum(({ incidents }) => incidents),
    symptoms: sum(({ symptoms }) => symptoms),
    right: sum(({ right }) => right),
  }
}

const totalOf = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((sum, one) => sum + of(one), 0)

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
