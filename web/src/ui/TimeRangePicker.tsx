import { Button, Group, Popover, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { CalendarClock } from 'lucide-react'
import { useState } from 'react'
import { PRESETS, type Preset, type TimeRange, useTimeRange } from '../lib/use-time-range.ts'
import { momentOf, ownZone, wallTime } from '../lib/zone.ts'
import classes from './TimeRangePicker.module.css'

interface Props {
  /** The site's IANA zone, in which a range is typed; without one the reader's own. */
  zone?: string
}

/** Chooses the range of `useTimeRange`. */
export function TimeRangePicker({ zone = ownZone() }: Props) {
  const { range, set } = useTimeRange()
  const [isOpen, setOpen] = useState(false)
  const choose = (next: TimeRange) => {
    set(next)
    setOpen(false)
  }
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus>
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<CalendarClock size={16} aria-hidden />}
          onClick={() => setOpen(!isOpen)}
          aria-label={`Time range: ${labelOf(range, zone)}`}
        >
          {labelOf(range, zone)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="sm">
        <div className={classes.panel}>
          <ul className={classes.presets}>
            {Object.entries(PRESETS).map(([preset, { label }]) => (
              <li key={preset}>
                <UnstyledButton
                  className={classes.preset}
                  aria-current={('preset' in range && range.preset === preset) || undefined}
                  onClick={() => choose({ preset: preset as Preset })}
                >
                  {label}
                </UnstyledButton>
              </li>
            ))}
          </ul>
          <Custom range={range} zone={zone} onChoose={choose} />
        </div>
      </Popover.Dropdown>
    </Popover>
  )
}

function Custom({ range, zone, onChoose }: { range: TimeRange; zone: string; onChoose: (range: TimeRange) => void }) {
  const now = boundsOf(range)
  const [from, setFrom] = useState(() => wallTime(now.from, zone))
  const [to, setTo] = useState(() => wallTime(now.to, zone))
  const [start, end] = [momentOf(from, zone), momentOf(to, zone)]
  const isRange = start !== null && end !== null && start < end
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isRange) onChoose({ from: new Date(start).toISOString(), to: new Date(end).toISOString() })
      }}
    >
      <Stack gap="sm">
        <TextInput
          type="datetime-local"
          label="From"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          label="To"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          error={isRange ? undefined : 'must be after the start'}
        />
        <Group justify="space-between">
          <Text size="xs" c="dimmed">
            {zone}
          </Text>
          <Button type="submit" disabled={!isRange}>
            Show
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function boundsOf(range: TimeRange): { from: number; to: number } {
  if (!('preset' in range)) return { from: Date.parse(range.from), to: Date.parse(range.to) }
  const to = Date.now()
  return { from: to - PRESETS[range.preset].hours * 3_600_000, to }
}

function labelOf(range: TimeRange, zone: string): string {
  if ('preset' in range) return PRESETS[range.preset].label
  const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: zone })
  return format.formatRange(Date.parse(range.from), Date.parse(range.to))
}
