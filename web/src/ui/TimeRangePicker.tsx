import { Button, Group, Popover, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { useRouterState } from '@tanstack/react-router'
import { CalendarClock } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { Query } from '../api/client.ts'
import { type UrlSearch, useSetUrlState } from '../lib/use-url-state.ts'
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

/** The ranges that end now, by the name they have in the address. */
const PRESETS = {
  '1h': { hours: 1, label: 'Last hour' },
  '6h': { hours: 6, label: 'Last 6 hours' },
  '24h': { hours: 24, label: 'Last 24 hours' },
  '7d': { hours: 168, label: 'Last 7 days' },
  '30d': { hours: 720, label: 'Last 30 days' },
} as const
type Preset = keyof typeof PRESETS

const FALLBACK: Preset = '24h'

/** The range that the address names: a preset, which moves with the time, or one from a moment to another (ISO 8601). */
type TimeRange = { preset: Preset } | { from: string; to: string }

/** @returns the range, what to pass to the reports' calls for it, and how to change it */
export function useTimeRange(): { range: TimeRange; query: Query; set: (range: TimeRange) => void } {
  const search = useRouterState({ select: (state) => state.location.search as UrlSearch })
  const setAll = useSetUrlState({ push: true })
  const { range: preset, from, to } = search
  return useMemo(() => {
    const range = rangeOf({ preset, from, to })
    return {
      range,
      query: 'preset' in range ? { hours: PRESETS[range.preset].hours } : range,
      set: (next: TimeRange) =>
        setAll(
          'preset' in next
            ? { range: next.preset === FALLBACK ? undefined : next.preset, from: undefined, to: undefined }
            : { range: undefined, ...next },
        ),
    }
  }, [preset, from, to, setAll])
}

function rangeOf({ preset = FALLBACK, from, to }: Record<'preset' | 'from' | 'to', string | undefined>): TimeRange {
  if (from !== undefined && to !== undefined && Date.parse(from) < Date.parse(to)) return { from, to }
  return { preset: preset in PRESETS ? (preset as Preset) : FALLBACK }
}
