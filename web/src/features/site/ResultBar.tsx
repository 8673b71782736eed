import { Tooltip } from '@mantine/core'
import type { ResultRecord } from '../../api/probes.ts'
import { counted, exact } from '../../lib/words.ts'
import { STATUS_WORDS, STATUSES } from '../../ui/status/status.ts'
import classes from './ResultBar.module.css'

interface Props {
  /** Newest first. */
  results: readonly ResultRecord[]
  /** How many there is room for; those before are left out. */
  most: number
  zone: string
}

/** The last results of a probe, oldest first: the worse, the higher, so that colour never says it alone. */
export function ResultBar({ results, most, zone }: Props) {
  const shown = results.slice(0, most).toReversed()
  return (
    <div className={classes.bar} role="img" aria-label={inWords(shown)}>
      {shown.map(({ id, status, message, executed_at }) => (
        <Tooltip key={id} label={`${exact(Date.parse(executed_at), zone)}: ${message}`} multiline maw={320}>
          <i data-status={status} />
        </Tooltip>
      ))}
    </div>
  )
}

function inWords(results: readonly ResultRecord[]): string {
  if (results.length === 0) return 'No result yet'
  const counts = STATUSES.flatMap((status) => {
    const count = results.filter((result) => result.status === status).length
    return count === 0 ? [] : [`${count} ${STATUS_WORDS[status]}`]
  })
  return `Last ${counted(results.length, 'result')}: ${counts.join(', ')}`
}
