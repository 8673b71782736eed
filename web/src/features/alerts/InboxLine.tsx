import '@mantine/core/styles/CheckboxCard.layer.css'
import '@mantine/core/styles/CheckboxIndicator.layer.css'
import '@mantine/core/styles/Checkbox.layer.css'
import { ActionIcon, Button, Checkbox } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { BellOff } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import type { AlertRecord } from '../../api/alerts.ts'
import type { Status } from '../../api/overview.ts'
import type { Mute } from '../../ui/mute/mutes.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import { AlertTimes } from './AlertTimes.tsx'
import classes from './alerts.module.css'
import { sentence } from './words.ts'

/** The actions of a line of an alert or incident. */
export interface LineActions<Item> {
  mayChange: boolean
  acknowledge: (item: Item) => void
  select: (item: Item) => void
  /** The id of the line whose silence menu is open. */
  silencing: string | null
  setSilencing: (id: string | null) => void
}

/** The props that a line passes to its silence menu. */
export interface SilencingProps {
  opened: boolean
  onChange: (opened: boolean) => void
  children: ReactElement
}

type Item = Pick<AlertRecord, 'id' | 'title' | 'state' | 'started_at' | 'opened_at' | 'resolved_at'>

interface Props<I extends Item> extends LineActions<I> {
  item: I
  link:
    | { to: '/alerts/$alertId'; params: { alertId: string } }
    | { to: '/incidents/$incidentId'; params: { incidentId: string } }
  status: Status
  mute: Mute | null
  zone: string | undefined
  isSelected: boolean
  /** The class of the lines of this list. */
  className?: string | undefined
  where: ReactNode
  /** Who is working on it, or how it was resolved. */
  handled: ReactNode
  /** How often, or how many. */
  count: ReactNode
  drawSilencing: (props: SilencingProps) => ReactNode
}

/** A line in the list of alerts, or of incidents. */
export function InboxLine<I extends Item>(props: Props<I>) {
  const { item, link, status, mute, zone, isSelected, className = '', where, handled, count, mayChange } = props
  const isOver = item.state === 'resolved'
  const variant = mute !== null && !isOver ? 'hatched' : item.state === 'open' ? 'filled' : 'outline'
  const title = sentence(item.title)
  return (
    <div className={`${classes.row} ${className}`} data-status={status} data-over={isOver || undefined}>
      <span className={classes.check}>
        {mayChange && item.state === 'open' && (
          <Checkbox
            size="xs"
            aria-label={`Select: ${title}`}
            checked={isSelected}
            onChange={() => props.select(item)}
          />
        )}
      </span>
      <StatusMark status={status} variant={variant} label={STATUS_WORDS[status]} />
      <div className={classes.what}>
        <Link {...link} className={classes.title} data-key={item.id} title={title}>
          {title}
        </Link>
        <span className={classes.where} title={typeof where === 'string' ? where : undefined}>
          {where}
        </span>
      </div>
      {handled}
      {count}
      <AlertTimes alert={item} zone={zone} />
      <Actions {...props} />
    </div>
  )
}

function Actions<I extends Item>(props: Props<I>) {
  const { item, mute, mayChange, acknowledge, silencing, setSilencing, drawSilencing } = props
  if (!mayChange || item.state === 'resolved') return <span className={classes.actions} />
  return (
    <span className={classes.actions}>
      {item.state === 'open' && (
        <Button size="compact-sm" variant="default" onClick={() => acknowledge(item)}>
          Acknowledge
        </Button>
      )}
      {mute === null &&
        drawSilencing({
          opened: silencing === item.id,
          onChange: (opened) => setSilencing(opened ? item.id : null),
          children: (
            <ActionIcon variant="default" size={26} aria-label="Silence" title="Silence">
              <BellOff size={14} aria-hidden />
            </ActionIcon>
          ),
        })}
    </span>
  )
}
