import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { type Overview, overviewQuery } from '../../api/overview.ts'
import { useSession } from '../../api/session.ts'
import { useCutOff, useStream } from '../../api/stream.ts'
import { useNow } from '../../lib/external.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { deviceTime, duration } from '../../lib/words.ts'
import { ErrorState } from '../../ui/States.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS, STATUSES, useTab } from '../../ui/status/status.ts'
import { verdict } from '../overview/site-list.ts'
import { type Freshness, freshnessOf, type Slide, type SlideLine, slideMs, slidesOf } from './slides.ts'
import classes from './wall.module.css'

/** A page for a screen on a wall that no one touches: one client after the other, in letters readable from five metres. */
export function WallPage() {
  const { data, error, refetch, dataUpdatedAt } = useQuery(overviewQuery)
  const cutOff = useCutOff()
  const now = useNow()
  useStream(useSession().seesAny)
  useWakeLock()
  useEscape()
  const freshness = freshnessOf({ cutOff, readAt: dataUpdatedAt, now })
  return (
    <main className={classes.wall} data-stale={freshness.staleSince !== null || undefined}>
      <Link to="/overview" className={classes.leave}>
        Go to the overview
      </Link>
      {data !== undefined ? (
        <Loaded overview={data} freshness={freshness} now={now} />
      ) : error !== null ? (
        <ErrorState error={error} level={1} onRetry={() => void refetch()} />
      ) : (
        <span className="sr-only" role="status">
          Loading the wall
        </span>
      )}
    </main>
  )
}

interface LoadedProps {
  overview: Overview
  freshness: Freshness
  now: number
}

function Loaded({ overview, freshness, now }: LoadedProps) {
  const worst = STATUSES.find((status) => overview.totals[status] > 0) ?? 'unknown'
  const words = verdict(overview)
  useTab(`${words} · Wall · Tagwarden`, worst)
  return (
    <>
      <header className={classes.header}>
        <h1 data-status={worst}>
          <StatusMark status={worst} />
          {words}
        </h1>
      </header>
      {/* The key resets to the first slide when another incident becomes the most urgent. */}
      <Slides key={overview.incidents[0]?.id} slides={slidesOf(overview)} now={now} />
      <footer className={classes.foot}>
        {freshness.staleSince === null ? (
          <span>As of {deviceTime(Date.parse(overview.generated_at))}</span>
        ) : (
          <strong role="alert">
            No connection to Tagwarden: this is how it was at {deviceTime(freshness.staleSince)}
          </strong>
        )}
      </footer>
    </>
  )
}

/** Up to this many lines, there is room for two lines about what is wrong. */
const FEW = 3

function Slides({ slides, now }: { slides: readonly Slide[]; now: number }) {
  const [seconds] = useUrlState('seconds', '')
  const index = useRotation(slides.length, slideMs(seconds))
  const slide = slides[index]
  if (slide === undefined) return <p className={classes.nothing}>Sites are shown here as soon as there are some.</p>
  return (
    <section className={classes.slide} aria-label={slide.title}>
      <h2>
        <span title={slide.title}>{slide.title}</span>
        {slide.note !== null && <span className={classes.muted}>{slide.note}</span>}
        {slides.length > 1 && (
          <span className={classes.number}>
            {index + 1} of {slides.length}
          </span>
        )}
      </h2>
      <ul data-few={slide.lines.length <= FEW || undefined} data-fine={slide.status === 'ok' || undefined}>
        {slide.lines.map((line) => (
          <Line key={line.key} line={line} now={now} />
        ))}
      </ul>
    </section>
  )
}

function Line({ line: { status, name, text, since, isAcknowledged }, now }: { line: SlideLine; now: number }) {
  return (
    <li data-status={status}>
      <StatusMark status={status} label={STATUS_WORDS[status]} variant={isAcknowledged ? 'outline' : 'filled'} />
      <span className={classes.name} title={name}>
        {name}
      </span>
      <span className={classes.text}>{text}</span>
      <span className={classes.since}>{since === null ? '' : duration(now - Date.parse(since))}</span>
    </li>
  )
}

/** The index of the current slide, which advances every `ms`. */
function useRotation(count: number, ms: number): number {
  const [position, setPosition] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setPosition((last) => last + 1), ms)
    return () => clearInterval(timer)
  }, [ms])
  // There may be fewer slides than a moment ago.
  return count === 0 ? 0 : position % count
}

/** Escape goes back to the overview. In full screen, the browser uses the first Escape itself. */
function useEscape(): void {
  const navigate = useNavigate()
  useEffect(() => {
    const leave = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') void navigate({ to: '/overview' })
    }
    window.addEventListener('keydown', leave)
    return () => window.removeEventListener('keydown', leave)
  }, [navigate])
}

/** Keeps the screen on while the page is visible, if the browser can: only on https or localhost. */
function useWakeLock(): void {
  useEffect(() => {
    // Undefined in browsers without it, and on insecure addresses.
    const { wakeLock } = navigator as Partial<Pick<Navigator, 'wakeLock'>>
    if (wakeLock === undefined) return undefined
    let lock: WakeLockSentinel | undefined
    let isOver = false
    const request = async () => {
      if (document.visibilityState !== 'visible') return
      try {
        const got = await wakeLock.request('screen')
        if (isOver) await got.release()
        else lock = got
      } catch {
        // Refused, for example because the battery is low: the screen goes dark as usual.
      }
    }
    // A hidden page loses its lock, so request it again.
    const onShown = () => void request()
    document.addEventListener('visibilitychange', onShown)
    onShown()
    return () => {
      isOver = true
      document.removeEventListener('visibilitychange', onShown)
      void lock?.release()
    }
  }, [])
}
