import { Link } from '@tanstack/react-router'
import type { ChangeRecord, Today } from '../../api/today.ts'
import type { Directory } from '../../lib/use-directory.ts'
import type { Column } from '../../ui/table/column.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { Nothing, Section } from './sections.tsx'
import classes from './today.module.css'
import { comparedWords, differenceWords, isWorse, momentLine, subjectWords, usualWords, valueWords } from './words.ts'

/** What differs from the same hours a week before by more than its usual variation. */
export function ChangesSection({ today, directory }: { today: Today; directory: Directory }) {
  const { changes, timezone } = today
  const compared = comparedWords(today)
  const [to, before] = [changes.to, changes.before.to].map((time) => momentLine(Date.parse(time), timezone))
  return (
    <Section title="Biggest changes" about={`24 hours to ${to}, against those to ${before}`}>
      {changes.entries.length === 0 ? (
        changes.compared > 0 && <Nothing>Nothing differs from last week by more than it usually does.</Nothing>
      ) : (
        <DataTable
          label="What changed most"
          columns={columnsOf(directory, changes)}
          rows={changes.entries}
          keyOf={({ site_id, kind, name }) => `${site_id} ${kind} ${name}`}
        />
      )}
      {compared !== null && <p className={classes.more}>{compared}</p>}
    </Section>
  )
}

const columnsOf = (
  { sites }: Directory,
  { from, to }: Pick<Today['changes'], 'from' | 'to'>,
): readonly Column<ChangeRecord>[] => [
  {
    key: 'what',
    title: 'What',
    sortBy: subjectWords,
    render: (change) => (
      <Link
        to="/sites/$siteId"
        params={{ siteId: change.site_id }}
        search={{ ...focusOf(change), from, to } as object}
        className={classes.subject}
      >
        {subjectWords(change)}
      </Link>
    ),
  },
  {
    key: 'site',
    title: 'Site',
    sortBy: ({ site_id }) => sites[site_id]?.name ?? '',
    render: ({ site_id }) => <span className={classes.name}>{sites[site_id]?.name ?? 'a site'}</span>,
  },
  {
    key: 'now',
    title: 'Now',
    isNumber: true,
    sortBy: ({ now }) => now,
    render: (change) => valueWords(change, change.now),
  },
  {
    key: 'before',
    title: 'Last week',
    isNumber: true,
    sortBy: ({ before }) => before,
    render: (change) => <span className={classes.muted}>{valueWords(change, change.before)}</span>,
  },
  {
    key: 'change',
    title: 'Change',
    isNumber: true,
    sortBy: ({ deviations }) => Math.abs(deviations),
    render: (change) => <span className={isWorse(change) ? classes.worse : undefined}>{differenceWords(change)}</span>,
  },
  {
    key: 'usual',
    title: 'Usually',
    isNumber: true,
    render: (change) => <span className={classes.muted}>{usualWords(change)}</span>,
  },
]

const focusOf = ({ kind, name }: ChangeRecord) =>
  name === null ? {} : kind === 'event' ? { event: name } : { tag: name }
