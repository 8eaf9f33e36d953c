// @vitest-environment jsdom
import { describe, expect, it } from 'vitest';
import {
  currentRoute,
  jobRoute,
  jobsRoute,
  navigate,
  newJobRoute,
  parseRoute,
  routeHash,
  type Route,
} from './router.js';

describe('router', () => {
  it.each<[string, Route]>([
    ['#/overview', { page: 'overview' }],
    ['#/budgets', { page: 'budgets' }],
    ['#/jobs', { page: 'jobs', query: '' }],
    ['#/jobs?show=running&q=a', { page: 'jobs', query: 'show=running&q=a' }],
    ['#/new', newJobRoute()],
    ['#/new?from=%2Fanna%2Ftrain&mode=edit', newJobRoute('/anna/train', 'edit')],
    ['#/job/%2Fanna%2Ftrain%20100%25', jobRoute('/anna/train 100%')],
    ['#/job/%2Fanna%2Fa%3Fb%23c?tab=logs', jobRoute('/anna/a?b#c', 'logs')],
  ])('reads and writes %s', (hash, route) => {
    expect(parseRoute(hash)).toEqual(route);
    expect(routeHash(route)).toBe(hash);
  });

  it.each(['', '#', '#/nowhere', '#/job/', '#/job/%E0%A4%A'])('shows Jobs for %j', (hash) => {
    expect(parseRoute(hash)).toEqual({ page: 'jobs', query: '' });
  });

  it('leads back to the list as it was left', () => {
    navigate({ page: 'jobs', query: 'show=ended' });
    currentRoute();
    navigate(jobRoute('/anna/train'));
    currentRoute();
    expect(jobsRoute()).toEqual({ page: 'jobs', query: 'show=ended' });
  });
});
