/**
 * Routes live in the address' hash, so back, forward and reload work and a view can be kept as text:
 * #/overview, #/jobs?..., #/queue, #/machines, #/machine/<id>?tab=..., #/images, #/budgets, #/activity?entity=..., #/settings,
 * #/new?from=ID&mode=edit, #/job/<encoded id>?tab=...
 */
import { useSyncExternalStore } from 'react';

export type NewJobMode = 'edit' | 'template';

export type Route =
  | { readonly page: 'overview' }
  | { readonly page: 'queue' }
  | { readonly page: 'budgets' }
  | { readonly page: 'machines' }
  | { readonly page: 'machine'; readonly machineId: string; readonly tab: string | null }
  | { readonly page: 'images' }
  | { readonly page: 'activity'; readonly entity: string }
  | { readonly page: 'settings' }
  | { readonly page: 'jobs'; readonly query: string }
  | { readonly page: 'new'; readonly from: string | null; readonly mode: NewJobMode | null }
  | { readonly page: 'job'; readonly jobId: string; readonly tab: string | null };

/** Where Jobs was left (filter, sort), so that its rail entry and Esc lead back to the same view. */
let lastJobsQuery = '';

/** Null also for a broken escape in a typed address: the list is the place to find what was meant. */
function idAfter(path: string, start: string): string | null {
  if (!path.startsWith(start) || path.length === start.length) return null;
  try {
    return decodeURIComponent(path.slice(start.length));
  } catch {
    return null;
  }
}

function withTab(path: string, tab: string | null): string {
  return tab === null ? path : `${path}?tab=${encodeURIComponent(tab)}`;
}

export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#/, '');
  const mark = text.indexOf('?');
  const path = mark === -1 ? text : text.slice(0, mark);
  const query = mark === -1 ? '' : text.slice(mark + 1);
  const parameters = new URLSearchParams(query);
  if (path === '/overview') return { page: 'overview' };
  if (path === '/queue') return { page: 'queue' };
  if (path === '/budgets') return { page: 'budgets' };
  if (path === '/machines') return { page: 'machines' };
  if (path === '/images') return { page: 'images' };
  if (path === '/activity') return { page: 'activity', entity: parameters.get('entity') ?? '' };
  if (path === '/settings') return { page: 'settings' };
  if (path === '/new') {
    const mode = parameters.get('mode');
    return {
      page: 'new',
      from: parameters.get('from'),
      mode: mode === 'edit' || mode === 'template' ? mode : null,
    };
  }
  const jobId = idAfter(path, '/job/');
  if (jobId !== null) return { page: 'job', jobId, tab: parameters.get('tab') };
  const machineId = idAfter(path, '/machine/');
  if (machineId !== null) return { page: 'machine', machineId, tab: parameters.get('tab') };
  return { page: 'jobs', query: path === '/jobs' ? query : '' };
}

export function routeHash(route: Route): string {
  switch (route.page) {
    case 'overview':
      return '#/overview';
    case 'queue':
      return '#/queue';
    case 'budgets':
      return '#/budgets';
    case 'machines':
      return '#/machines';
    case 'machine':
      return withTab(`#/machine/${encodeURIComponent(route.machineId)}`, route.tab);
    case 'images':
      return '#/images';
    case 'activity':
      return route.entity === '' ? '#/activity' : `#/activity?entity=${encodeURIComponent(route.entity)}`;
    case 'settings':
      return '#/settings';
    case 'jobs':
      return route.query === '' ? '#/jobs' : `#/jobs?${route.query}`;
    case 'new': {
      const parameters = new URLSearchParams();
      if (route.from !== null) parameters.set('from', route.from);
      if (route.mode !== null) parameters.set('mode', route.mode);
      const query = parameters.toString();
      return query === '' ? '#/new' : `#/new?${query}`;
    }
    case 'job':
      return withTab(`#/job/${encodeURIComponent(route.jobId)}`, route.tab);
  }
}

export const jobsRoute = (): Route => ({ page: 'jobs', query: lastJobsQuery });
export const overviewRoute: Route = { page: 'overview' };
export const queueRoute: Route = { page: 'queue' };
export const budgetsRoute: Route = { page: 'budgets' };
export const machinesRoute: Route = { page: 'machines' };
export const machineRoute = (machineId: string, tab: string | null = null): Route => ({
  page: 'machine',
  machineId,
  tab,
});
export const activityRoute = (entity = ''): Route => ({ page: 'activity', entity });
export const settingsRoute: Route = { page: 'settings' };
export const imagesRoute: Route = { page: 'images' };
export const newJobRoute = (from: string | null = null, mode: NewJobMode | null = null): Route => ({
  page: 'new',
  from,
  mode,
});
export const jobRoute = (jobId: string, tab: string | null = null): Route => ({ page: 'job', jobId, tab });

export function navigate(route: Route): void {
  window.location.hash = routeHash(route);
}

/** Changes the address without a new entry in the history: a filter typed, a tab chosen. */
export function replaceRoute(route: Route): void {
  const hash = routeHash(route);
  if (window.location.hash === hash) return;
  window.history.replaceState(window.history.state, '', hash);
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener);
  return () => {
    window.removeEventListener('hashchange', listener);
  };
}

let known: { readonly hash: string; readonly route: Route } | null = null;

export function currentRoute(): Route {
  const hash = window.location.hash;
  if (known?.hash !== hash) known = { hash, route: parseRoute(hash) };
  if (known.route.page === 'jobs') lastJobsQuery = known.route.query;
  return known.route;
}

export function useRoute(): Route {
  return useSyncExternalStore(subscribe, currentRoute);
}
