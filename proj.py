import numpy as np
from numpy.polynomial.legendre import leggauss, legvander
def kern_mass(s,q):
    x,wt=leggauss(400); r=(x+1)/2; wt=wt/2
    w=(1-r*r)**s; m=q//2+1
    V=np.array([r**(2*j) for j in range(m)]); G=(V*(4*np.pi*r*r*w*wt))@V.T
    c=np.linalg.solve(G,np.eye(m)[0])
    rr=np.linspace(0,1,2001); f=4*np.pi*rr**2*(1-rr*rr)**s*sum(c[j]*rr**(2*j) for j in range(m))
    M=np.concatenate([[0],np.cumsum((f[1:]+f[:-1])/2*np.diff(rr))]); 
    return lambda d: np.interp(d,rr,M/M[-1])
x,w=leggauss(48); X=(x+1)/2
Z,Y,XX=np.meshgrid(X,X,X,indexing="ij")
def test(R,s,q,corner,N=5,deg=None):
    deg=N if deg is None else deg
    mass=kern_mass(s,q)
    c=np.array(corner)
    d=np.stack([XX-c[0],Y-c[1],Z-c[2]]); r=np.sqrt((d**2).sum(0))
    v=mass(r/R)*d[0]/np.maximum(r,1e-12)**3
    V=legvander(x,deg); W=V*w[:,None]*(np.arange(deg+1)+.5)
    co=np.einsum("zyx,za,yb,xc->abc",v,W,W,W)
    # evaluate at points r=1 within the cube
    pts=np.random.default_rng(0).normal(size=(400,3)); pts/=np.linalg.norm(pts,axis=1)[:,None]; pts=c+pts*1.0
    pts=pts[((pts>=0)&(pts<=1)).all(1)]
    if len(pts)==0: return None
    e=[np.einsum("abc,a,b,c",co,*(legvander(2*p[k]-1,deg)[()] .ravel() if False else legvander(np.array([2*p[k]-1]),deg)[0] for k in (2,1,0))) for p in pts]
    dd=pts-c; rr=np.linalg.norm(dd,axis=1); ex=mass(rr/R)*dd[:,0]/rr**3
    err=np.array(e)-ex
    return np.sqrt((err**2).mean())*np.sqrt(3), np.abs(err).max()
for N in (4,5,7):
  for cfg in [(0.3,2,2),(0.4,2,2),(0.5,2,2),(0.5,3,4),(0.6,3,4),(0.75,2,4),(0.75,2,6),(1,2,6),(1,3,4),(1,2,2),(1,2,0)]:
    print(N,cfg,"corner %% rms/max: %.2f %.2f"%tuple(100*np.array(test(*cfg,(0,0,0),N))), "edge(mid) %.2f %.2f"%tuple(100*np.array(test(*cfg,(0,0,.4),N))))
