import { ActionIcon, Button, Group, Popover, Stack, Text, TextInput, Tooltip, UnstyledButton } from '@mantine/core'
import { CalendarClock, ChevronLeft, ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { ownZone, wallTime } from '../../lib/zone.ts'
import { momentLike, zoneHint } from '../../lib/zone-hint.ts'
import { CopyButton } from '../CopyButton.tsx'
import {
  boundsOf,
  endsNow,
  fixedRange,
  labelOf,
  PRESETS,
  type Preset,
  queryOf,
  shifted,
  type TimeRange,
} from './range.ts'
import classes from './TimeRangePicker.module.css'
import { useTimeRange } from './use-time-range.ts'

/** A moment from which people look: "the deploy of web 42". */
export interface Anchor {
  label: string
  /** epoch ms */
  at: number
}

interface Props {
  /** The IANA zone of typed ranges; by default the reader's own. */
  zone?: string
  /** Starts of ranges that end now. */
  anchors?: readonly Anchor[]
}

/** Chooses and shifts the range of `useTimeRange`. */
export function TimeRangePicker({ zone = ownZone(), anchors = [] }: Props) {
  const { range, set } = useTimeRange()
  const [isOpen, setOpen] = useState(false)
  const choose = (next: TimeRange) => {
    set(next)
    setOpen(false)
  }
  return (
    <Group gap={4} wrap="nowrap" role="group" aria-label="Time">
      <Step label="Earlier" icon={ChevronLeft} onClick={() => set(shifted(range, -1, Date.now()))} />
      <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus returnFocus>
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
                <Choice
                  key={preset}
                  label={label}
                  isChosen={'preset' in range && range.preset === preset}
                  onChoose={() => choose({ preset: preset as Preset })}
                />
              ))}
              {anchors.map(({ label, at }) => (
                <Choice
                  key={label}
                  label={`Since ${label}`}
                  isChosen={!('preset' in range) && range.to === undefined && Date.parse(range.from) === at}
                  onChoose={() => choose({ from: new Date(at).toISOString() })}
                />
              ))}
            </ul>
            <Custom range={range} zone={zone} onChoose={choose} />
          </div>
        </Popover.Dropdown>
      </Popover>
      <Step
        label="Later"
        icon={ChevronRight}
        isDisabled={endsNow(range, Date.now())}
        onClick={() => set(shifted(range, 1, Date.now()))}
      />
    </Group>
  )
}

interface StepProps {
  label: string
  icon: typeof ChevronLeft
  isDisabled?: boolean
  onClick: () => void
}

function Step({ label, icon: Icon, isDisabled = false, onClick }: StepProps) {
  return (
    <Tooltip label={`${label}, by half of the range`}>
      <ActionIcon variant="default" size={36} aria-label={label} disabled={isDisabled} onClick={onClick}>
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}

function Choice({ label, isChosen, onChoose }: { label: string; isChosen: boolean; onChoose: () => void }) {
  return (
    <li>
      <UnstyledButton className={classes.preset} aria-current={isChosen || undefined} onClick={onChoose}>
        {label}
      </UnstyledButton>
    </li>
  )
}

function Custom({ range, zone, onChoose }: { range: TimeRange; zone: string; onChoose: (range: TimeRange) => void }) {
  const now = boundsOf(range, Date.now())
  const [shown] = useState(() => boundsOf(range, floorToMinute(Date.now())))
  const [from, setFrom] = useState(() => wallTime(shown.from, zone))
  const [to, setTo] = useState(() => wallTime(shown.to, zone))
  const [start, end] = [momentLike(shown.from, from, zone), momentLike(shown.to, to, zone)]
  const hints = [zoneHint(from, zone, start), zoneHint(to, zone, end)]
  const isRange = start !== null && end !== null && start < end
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (isRange) onChoose(fixedRange({ from: start, to: end }))
      }}
    >
      <Stack gap="sm">
        <TextInput
          type="datetime-local"
          label="From"
          value={from}
          onChange={(event) => setFrom(event.currentTarget.value)}
          error={start === null && 'is missing'}
        />
        <TextInput
          type="datetime-local"
          label="To"
          value={to}
          onChange={(event) => setTo(event.currentTarget.value)}
          error={end === null ? 'is missing' : start !== null && !isRange && 'must be after the start'}
        />
        <Group justify="space-between">
          <Text size="xs" c="dimmed">
            {hints.find((hint) => hint !== zone) ?? zone}
          </Text>
          <Group gap={4}>
            <CopyButton text={linkTo(now)} what="link with fixed times" />
            <Button type="submit" disabled={!isRange}>
              Show
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  )
}

const floorToMinute = (at: number): number => Math.floor(at / 60_000) * 60_000

/** A link to this view with fixed times, which shows the same whenever it is opened. */
function linkTo(bounds: { from: number; to: number }): string {
  const url = new URL(window.location.href)
  url.searchParams.delete('range')
  for (const [name, value] of Object.entries(queryOf(fixedRange(bounds)))) url.searchParams.set(name, String(value))
  return url.href
}
