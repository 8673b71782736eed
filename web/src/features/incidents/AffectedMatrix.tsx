import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { IncidentDetail } from '../../api/incidents.ts'
import { useNow } from '../../lib/external.ts'
import { useDirectory } from '../../lib/use-directory.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { clockTime } from '../alerts/words.ts'
import classes from './incidents.module.css'
import { type Matrix, matrixOf } from './matrix.ts'

/** Which tags of which sites are affected since when, each with a link to its alert. */
export function AffectedMatrix({ incident, zone }: { incident: IncidentDetail; zone: string | undefined }) {
  const { sites } = useDirectory()
  const { corner, columns, rows } = useMemo(() => matrixOf(incident, (id) => sites[id]?.client_name), [incident, sites])
  return (
    // The table may be wider than a phone: let it scroll instead of the page.
    <section className={classes.matrix} aria-label="Affected sites and tags">
      <table>
        <thead>
          <tr>
            <th scope="col">{corner}</th>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, cells }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {columns.map((column, at) => (
                <td key={column}>
                  <Onsets cells={cells[at] ?? []} zone={zone} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** The onsets in one cell: usually one, but a tag can be both failing and slow. */
function Onsets({ cells, zone }: { cells: Matrix['rows'][number]['cells'][number]; zone: string | undefined }) {
  const now = useNow()
  if (cells.length === 0) return <span className={classes.none}>fine</span>
  return cells.map(({ alertId, severity, isCheck, startedAt, resolvedAt }) => {
    const status = isCheck ? 'error' : severity
    const began = clockTime(Date.parse(startedAt), zone, now)
    return (
      <Link key={alertId} to="/alerts/$alertId" params={{ alertId }} className={classes.onset}>
        <StatusMark
          status={status}
          size={10}
          label={STATUS_WORDS[status]}
          variant={resolvedAt === null ? 'filled' : 'outline'}
        />
        {resolvedAt === null ? `since ${began}` : `${began} to ${clockTime(Date.parse(resolvedAt), zone, now)}`}
      </Link>
    )
  })
}
