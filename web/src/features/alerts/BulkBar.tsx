import { Button } from '@mantine/core'
import { counted } from '../../lib/words.ts'
import classes from './alerts.module.css'

interface Props {
  selected: number
  open: number
  isBusy: boolean
  onAcknowledge: () => void
  onAll: () => void
  onClear: () => void
}

/** What can be done with the alerts that were picked. */
export function BulkBar({ selected, open, isBusy, onAcknowledge, onAll, onClear }: Props) {
  if (selected === 0) return null
  return (
    <section className={classes.bulk} aria-label="Selected alerts">
      <span role="status">{counted(selected, 'alert')} selected</span>
      <Button size="compact-sm" loading={isBusy} onClick={onAcknowledge}>
        Acknowledge {selected}
      </Button>
      {selected < open && (
        <Button size="compact-sm" variant="default" onClick={onAll}>
          Select all {open}
        </Button>
      )}
      <Button size="compact-sm" variant="subtle" color="gray" onClick={onClear}>
        Clear
      </Button>
    </section>
  )
}
